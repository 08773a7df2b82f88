// How long PPDUs of 802.11n, ac and ax are on the air by ns-3.37:  durations
//
// For each format, width in MHz, guard interval in ns, number of streams and MCS that ns-3 knows: a line with these five, the 32-bit FNV-1a
// hash of the durations of PSDUs of 20 lengths, each in nanoseconds in decimal and followed by a space, and the first of them. The lengths are
// in a line before, in bytes. Compiled as `sinr.py` says; what it prints is in `durations.txt`.
//
// Durations with guard intervals of 400 ns are rounded up to 4 us here, which ns-3 does not do (802.11-2016, 19.4.3 and 21.4.3).

#include "ns3/core-module.h"
#include "ns3/wifi-module.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

struct Format
{
    std::string name;
    WifiPreamble preamble;
    uint16_t schemes, streams;
    std::vector<uint16_t> widths, guards;
    /// The lengths below are multiplied by this.
    uint32_t longer;
};

static const std::vector<uint32_t> LENGTHS = {1,    14,   32,   60,   100,   256,   500,   1000,  1538,  2000,
                                              2304, 3839, 4095, 7991, 11454, 16000, 20001, 32767, 43230, 65535};

static WifiMode
Mode(const Format& format, uint16_t scheme, uint16_t streams)
{
    if (format.name == "HT")
        return HtPhy::GetHtMcs(8 * (streams - 1) + scheme);
    return format.name == "VHT" ? VhtPhy::GetVhtMcs(scheme) : HePhy::GetHeMcs(scheme);
}

int
main()
{
    const Format formats[] = {
        {"HT", WIFI_PREAMBLE_HT_MF, 8, 4, {20, 40}, {400, 800}, 1},
        {"VHT", WIFI_PREAMBLE_VHT_SU, 10, 8, {20, 40, 80, 160}, {400, 800}, 16},
        {"HE", WIFI_PREAMBLE_HE_SU, 12, 8, {20, 40, 80, 160}, {800, 1600, 3200}, 16},
    };
    for (const auto& format : formats)
    {
        std::cout << "lengths " << format.name;
        for (auto length : LENGTHS)
            std::cout << " " << length * format.longer;
        std::cout << "\n";
        for (auto width : format.widths)
            for (auto guard : format.guards)
                for (uint16_t streams = 1; streams <= format.streams; ++streams)
                    for (uint16_t scheme = 0; scheme < format.schemes; ++scheme)
                    {
                        WifiTxVector sent;
                        sent.SetMode(Mode(format, scheme, streams));
                        sent.SetPreambleType(format.preamble);
                        sent.SetChannelWidth(width);
                        sent.SetGuardInterval(guard);
                        sent.SetNss(streams);
                        if (!sent.IsValid())
                            continue;
                        uint32_t hash = 2166136261u;
                        int64_t first = 0;
                        for (auto length : LENGTHS)
                        {
                            auto ns = WifiPhy::CalculateTxDuration(length * format.longer, sent, WIFI_PHY_BAND_5GHZ)
                                          .GetNanoSeconds();
                            if (guard == 400)
                                ns = (ns + 3999) / 4000 * 4000;
                            first = first == 0 ? ns : first;
                            for (char digit : std::to_string(ns) + " ")
                                hash = (hash ^ static_cast<unsigned char>(digit)) * 16777619u;
                        }
                        std::cout << format.name << " " << width << " " << guard << " " << streams << " " << scheme
                                  << " " << std::hex << hash << std::dec << " " << first << "\n";
                    }
    }
}
