# Saturated connections over a wired bottleneck of 10 Mb/s, in ns-2:
#
#   ns dumbbell.tcl PROTOCOL QUEUE WINDOW PAYLOAD SECONDS SEED ROUND_TRIP...
#
# PROTOCOL is xcp, newreno or sack1, QUEUE how many packets wait at the bottleneck at most, WINDOW the receivers' window in packets, PAYLOAD
# a packet's in bytes; the seed draws when XCP's timers first expire. Each ROUND_TRIP, in milliseconds of propagation, is a
# connection; all begin at once. The bottleneck has 10 ms, and access wires of 100 Mb/s have the rest in four equal parts.
#
# Headers are as large as in multihop: 40 bytes of IP and TCP, and with XCP 12 of timestamps and 20 of its own, on acknowledgements too. With
# XCP, every wire has its router.
#
# Each half second it writes `half TIME WAITING SENT DELIVERED...`: the mean number of packets that waited at the bottleneck in that
# time, the bytes that it sent, and the segments of each connection that were acknowledged. In the end `end DROPPED TIMEOUTS...`:
# packets that the bottleneck dropped, and the timeouts of each connection.

foreach {protocol queue window payload seconds seed} $argv break
set round_trips [lrange $argv 6 end]

set kinds(xcp) {TCP/Reno/XCP TCPSink/XCPSink XCP 60}
set kinds(newreno) {TCP/Newreno TCPSink DropTail 40}
set kinds(sack1) {TCP/Sack1 TCPSink/Sack1 DropTail 40}
foreach {sender_kind sink_kind queue_kind header} $kinds($protocol) break
set timestamps [expr {$protocol eq "xcp" ? 12 : 0}]

$defaultRNG seed $seed
Agent/TCP set packetSize_ $payload
Agent/TCP set window_ $window
Agent/TCP set tcpip_base_hdr_size_ $header
Agent/TCP set ts_option_size_ 12
Agent/TCP set tcpTick_ 0.001
Agent/TCPSink set packetSize_ [expr {$header + $timestamps}]

set ns [new Simulator]

# Both directions of a wire. A queue of ns-2 is full one packet before its limit, and XCP has to be configured with what the wire carries.
proc wire {from to rate delay limit} {
    global ns queue_kind
    $ns duplex-link $from $to $rate $delay $queue_kind
    foreach {a b} [list $from $to $to $from] {
        $ns queue-limit $a $b [expr {$limit + 1}]
        if {$queue_kind eq "XCP"} {
            [[$ns link $a $b] queue] set-link-capacity [[[$ns link $a $b] link] set bandwidth_]
        }
    }
}

set near [$ns node]
set far [$ns node]
wire $near $far 10Mb 10ms $queue
set senders {}
foreach round_trip $round_trips {
    set access [expr {($round_trip - 20) / 4.0}]ms
    set source [$ns node]
    set destination [$ns node]
    wire $source $near 100Mb $access 1000
    wire $far $destination 100Mb $access 1000
    set tcp [new Agent/$sender_kind]
    set sink [new Agent/$sink_kind]
    $ns attach-agent $source $tcp
    $ns attach-agent $destination $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at 0.0 "$ftp start"
    lappend senders $tcp
}

set monitor [$ns monitor-queue $near $far ""]
set integral [$monitor get-pkts-integrator]

# What a counter gained since it was looked at last.
proc gained {name value} {
    global last
    set before [expr {[info exists last($name)] ? $last($name) : 0}]
    set last($name) $value
    return [expr {$value - $before}]
}

proc report {} {
    global ns seconds senders monitor integral
    set now [$ns now]
    $integral newpoint $now [$integral set lasty_]
    set line [list half [format %.1f $now]]
    lappend line [format %.3f [expr {[gained waiting [$integral set sum_]] / 0.5}]]
    lappend line [expr {int([gained sent [$monitor set bdepartures_]])}]
    foreach tcp $senders {
        lappend line [gained $tcp [$tcp set ack_]]
    }
    puts $line
    if {$now + 0.25 < $seconds} {
        $ns at [expr {$now + 0.5}] report
        return
    }
    set line [list end [$monitor set pdrops_]]
    foreach tcp $senders {
        lappend line [$tcp set nrexmit_]
    }
    puts $line
    exit 0
}

$ns at 0.5 report
$ns run
