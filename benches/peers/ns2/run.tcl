# A case of the benchmark on ns-2.35:  ns run.tcl CASE SEED BEGIN WARM END
#
# CASE is the file that benches/cases.py writes. Traffic begins at BEGIN, is counted from WARM on, and the run ends at END, in
# seconds. Prints `delivered` (payload bytes, after WARM) and `peak_kb` (resident set).
#
# Where nodes move (`motion`), DSDV runs all the time. Otherwise: ns-2 has no static routing for wireless nodes. DSDV does its work before BEGIN instead and is then frozen: first routes stop
# growing old, then nothing is advertised any more. Its CPU is measured by a run whose END is BEGIN.

lassign $argv file seed begin warm end
set seconds_until_ageless 60.0
set seconds_until_silent 120.0
set forever 100000

array set case {routes static motion {}}
set places {}
set flows {}
set channel [open $file]
foreach line [split [string trim [read $channel]] "\n"] {
    switch [lindex $line 0] {
        node { lappend places [lrange $line 1 2] }
        flow { lappend flows [lrange $line 1 end] }
        route { }
        default { set case([lindex $line 0]) [lindex $line 1] }
    }
}
close $channel

ns-random $seed
Mac/802_11 set dataRate_ $case(data_bps)
Mac/802_11 set basicRate_ $case(control_bps)
Mac/802_11 set RTSThreshold_ [expr {$case(rts) ? 0 : 3000}]
# Direct sequence with the long preamble at 1 Mb/s, as ns-2 has it anyway; and ranges of 250 m and 550 m.
Mac/802_11 set PLCPDataRate_ 1.0e6
Phy/WirelessPhy set RXThresh_ 3.652e-10
Phy/WirelessPhy set CSThresh_ 1.559e-11
Phy/WirelessPhy set CPThresh_ 10.0

set ns [new Simulator]
# Wireless nodes do not come up without a trace file.
$ns trace-all [open /dev/null w]
set side 100
foreach place $places { foreach metres $place { set side [expr {max($side, $metres + 100)}] } }
set topography [new Topography]
$topography load_flatgrid [expr {int($side)}] [expr {int($side)}]
create-god [llength $places]
set agent [expr {$case(routes) eq "direct" ? "DumbAgent" : "DSDV"}]
$ns node-config -adhocRouting $agent -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue \
    -ifqLen $case(queue) -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topography \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF

set nodes {}
foreach place $places {
    set node [$ns node]
    $node random-motion 0
    lassign $place x y
    $node set X_ $x
    $node set Y_ $y
    $node set Z_ 0.0
    if {$case(routes) eq "static"} {
        $ns at $seconds_until_ageless "\[$node set ragent_\] set min_update_periods_ $forever"
        $ns at $seconds_until_silent "\[$node set ragent_\] set perup_ $forever.0"
    }
    lappend nodes $node
}

# The script speaks of $ns_ and $node_(i).
if {$case(motion) ne ""} {
    set ns_ $ns
    set number 0
    foreach node $nodes { set node_($number) $node; incr number }
    source $case(motion)
}

# Sender and sink of a flow; the sink is remembered with the name of its counter and what one count is worth in payload bytes.
set sinks {}
foreach flow $flows {
    lassign $flow from to kind payload rate start
    if {$kind eq "tcp"} {
        set sender [new Agent/TCP/Newreno]
        $sender set packetSize_ $payload
        $sender set window_ $case(window)
        set sink [new Agent/TCPSink]
        set app [new Application/FTP]
        # The sink counts packets whole: payload, TCP and IP headers, and DSDV's.
        lappend sinks [list $sink bytes_ [expr {$payload / ($payload + 60.0)}]]
    } elseif {$kind eq "tfrc"} {
        set sender [new Agent/TFRC]
        $sender set packetSize_ $payload
        set sink [new Agent/TFRCSink]
        set app [new Application/FTP]
        lappend sinks [list $sink bytes_ 1]
    } else {
        set sender [new Agent/UDP]
        $sender set packetSize_ $payload
        set sink [new Agent/LossMonitor]
        set app [new Application/Traffic/CBR]
        $app set packetSize_ $payload
        $app set rate_ $rate
        $app set random_ 1
        lappend sinks [list $sink npkts_ $payload]
    }
    $ns attach-agent [lindex $nodes $from] $sender
    $ns attach-agent [lindex $nodes $to] $sink
    $ns connect $sender $sink
    $app attach-agent $sender
    $ns at [expr {$begin + $start}] "$app start"
}

proc delivered {} {
    global sinks
    set sum 0.0
    foreach entry $sinks {
        lassign $entry sink counter worth
        set sum [expr {$sum + [$sink set $counter] * $worth}]
    }
    return $sum
}

proc finish {} {
    global before
    set status [open /proc/self/status]
    regexp {VmHWM:\s+(\d+)} [read $status] -> peak
    puts "delivered [expr {[delivered] - $before}]"
    puts "peak_kb $peak"
    exit 0
}

set before 0.0
$ns at $warm { set before [delivered] }
$ns at $end finish
$ns run
