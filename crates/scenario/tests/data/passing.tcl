# Node 1 passes node 0 at 10 m/s, in a distance of 150 m: within 250 m of it from 20 s to 60 s. Node 2 stands far off.
set god_ [God instance]
$ns_ at 10.0 "$node_(1) setdest 700.0 150.0 10.0"
$node_(1) set X_ 0.0
$node_(1) set Y_ 150.0
$node_(1) set Z_ 0.0
$node_(0) set X_ 300.0
$node_(0) set Y_ 0.0
$node_(0) set Z_ 0.0
$node_(2) set X_ 3000.0
$node_(2) set Y_ 0.0
$god_ set-dist 0 2 16777215
$ns_ at 20.0 "$god_ set-dist 0 1 1"
$ns_ at 60.0 "$god_ set-dist 0 1 16777215"
