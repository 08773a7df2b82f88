# ns-2.35: one NewReno flow over a chain; the same network as chain.toml's, with AODV in place of static routes.
# Usage: ns chain.tcl HOPS RATE SECONDS SEED
lassign $argv hops rate seconds seed
ns-random $seed
foreach {name value} [list dataRate_ $rate basicRate_ 1Mb RTSThreshold_ 0] { Mac/802_11 set $name $value }
set ns [new Simulator]
$ns trace-all [open /dev/null w]
set area [new Topography]
$area load_flatgrid 4000 500
create-god [expr {$hops + 1}]
$ns node-config -adhocRouting AODV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
  -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
  -channel [new Channel/WirelessChannel] -topoInstance $area -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
for {set i 0} {$i <= $hops} {incr i} {
  set node($i) [$ns node]
  $node($i) random-motion 0
  $node($i) set X_ [expr {10.0 + 200.0 * $i}]
  $node($i) set Y_ 100.0
  $node($i) set Z_ 0.0
}
set tcp [new Agent/TCP/Newreno]
$tcp set packetSize_ 1460
$tcp set window_ 32
set sink [new Agent/TCPSink]
$ns attach-agent $node(0) $tcp
$ns attach-agent $node($hops) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 1.0 "$ftp start"
$ns at $seconds { puts "goodput_bps [expr {[$sink set bytes_] * 8.0 / ($seconds - 1.0)}]"; exit 0 }
$ns run
