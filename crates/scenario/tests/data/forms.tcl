# The pass of passing.tcl as a whole script of ns-2: nodes 4 to 6, traffic, variables, and blocks that move nothing.
Antenna/OmniAntenna set X_ 0
set val(nn) 3 ;# nodes
set val(stop) [expr 2*50]
set ns [new Simulator]
create-god $val(nn)
for {set i 0} {$i < $val(nn)} {incr i} {
    set n($i) [$ns node]
    $n($i) random-motion 0
}
proc finish {} {
    global ns
    $ns flush-trace
    exit 0
}
set udp0 [new Agent/UDP]
$ns attach-agent $n(4) $udp0
$udp0 set X_ 7
$n(4) set X_ 300; $n(4) set Y_ 0.0
$ns at 0.0 {$n(5) set X_ 0; $n(5) set Y_ [expr 100 + 50]}
$ns at [expr 4 + 6] "$n(5) setdest \
    7.0e2 150 10"
$ns at 0 "$n(6) set X_ 3000"
$ns at 0 "$n(6) set Y_ 0"
$ns at $val(stop) "finish"
$ns run
