// Sends equal messages over a SimGrid platform, all at time 0, and prints how fast each of them is.
//
// Usage: flows PLATFORM FLOWS BYTES
//
// A line of FLOWS is "source destination", with the names of two hosts of the platform. For each of them, a line is printed
// with its initial rate in bytes per second and the time in seconds at which its message has arrived.
//
// Rates are those of SimGrid's own solver; nothing here computes a share. The initial rate is measured: the bytes that a
// flow has sent at a moment when no message can have arrived, divided by this time.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

// A plain fluid model: max-min fair shares of the links, no factors, no TCP windows, no acknowledgements. The precisions
// are in seconds and relative to bandwidths; SimGrid 3.33 and later accept these old names of the two options.
const std::vector<std::string> settings = {
    "network/model:CM02",         "network/bandwidth-factor:1", "network/latency-factor:1",
    "network/weight-S:0",         "network/TCP-gamma:0",        "network/crosstraffic:0",
    "maxmin/precision:1e-12",     "surf/precision:1e-12",
};

struct Flow {
  std::string from;
  std::string to;
  double rate = 0;
  double arrival = 0;
};

std::vector<Flow> read_flows(const char* path)
{
  std::ifstream file(path);
  std::vector<Flow> flows;
  Flow flow;
  while (file >> flow.from >> flow.to)
    flows.push_back(flow);
  return flows;
}

// Returns a time at which no message can have arrived: half of what one message takes over the fastest link alone.
double early(const sg4::Engine& engine, double bytes)
{
  double fastest = 0;
  for (const sg4::Link* link : engine.get_all_links())
    fastest = std::max(fastest, link->get_bandwidth());
  return bytes / fastest / 2;
}

// Starts all flows at once, and fills in their rates and arrivals.
void send_all(const sg4::Engine& engine, std::vector<Flow>& flows, std::uint64_t bytes)
{
  std::vector<sg4::CommPtr> waiting;
  std::vector<std::size_t> flow_of;
  for (const Flow& flow : flows) {
    flow_of.push_back(waiting.size());
    waiting.push_back(sg4::Comm::sendto_async(engine.host_by_name(flow.from), engine.host_by_name(flow.to), bytes));
  }
  const double moment = early(engine, static_cast<double>(bytes));
  sg4::this_actor::sleep_for(moment);
  for (std::size_t i = 0; i < flows.size(); i++)
    flows[i].rate = (static_cast<double>(bytes) - waiting[i]->get_remaining()) / moment;
  while (!waiting.empty()) {
    const auto done = sg4::Comm::wait_any(waiting);
    flows[flow_of[done]].arrival = sg4::Engine::get_clock();
    waiting.erase(waiting.begin() + done);
    flow_of.erase(flow_of.begin() + done);
  }
}

} // namespace

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  if (argc != 4) {
    std::cerr << "usage: flows PLATFORM FLOWS BYTES\n";
    return 2;
  }
  for (const std::string& setting : settings)
    sg4::Engine::set_config(setting);
  engine.load_platform(argv[1]);
  std::vector<Flow> flows = read_flows(argv[2]);
  if (flows.empty()) {
    std::cerr << argv[2] << ": no flows\n";
    return 2;
  }
  const std::uint64_t bytes = std::strtoull(argv[3], nullptr, 10);
  sg4::Actor::create("sender", engine.get_all_hosts().front(), [&] { send_all(engine, flows, bytes); });
  engine.run();
  for (const Flow& flow : flows)
    std::printf("%s %s %.17g %.17g\n", flow.from.c_str(), flow.to.c_str(), flow.rate, flow.arrival);
  return 0;
}
