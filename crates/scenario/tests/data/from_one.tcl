# Nodes 1 and 2: the second passes the first, and is off for a while.
$node_(1) set X_ 300.0
$node_(1) set Y_ 0.0
$node_(2) set X_ 0.0
$node_(2) set Y_ 150.0
$ns_ at 10.0 "$node_(2) setdest 700.0 150.0 10.0" # at 10 m/s
$ns_ at 30.0 "$node_(2) switch OFF"
$ns_ at 40.0 "$node_(2) switch ON"
