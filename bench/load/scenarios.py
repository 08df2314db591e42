"""What the comparison runs: one Scenario for each line of its tables."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    command: str = "getset"
    pipeline: int = 1
    clients: int = 50
    value_size: int = 32
    keys: int = 100000
    quick: bool = False  # also part of --quick

    def flags(self):
        return ["--command", self.command, "--ratio", "9:1", "--pipeline", str(self.pipeline),
                "--clients", str(self.clients), "--value-size", str(self.value_size), "--keys", str(self.keys)]

    def data(self):
        """What the servers must hold for it."""
        return self.value_size, self.keys


def all_scenarios():
    scenarios = [Scenario(f"p{pipeline}-c{clients}", pipeline=pipeline, clients=clients, quick=True)
                 for pipeline in (1, 16, 64) for clients in (50, 200)]
    scenarios += [Scenario(f"{command}{keys}-p{pipeline}", f"{command}:{keys}", pipeline, quick=keys == 10)
                  for command in ("mget", "mset") for keys in (10, 100) for pipeline in (1, 16)]
    scenarios.append(Scenario("connect", "connect"))
    scenarios += [Scenario("get-1k", "get", value_size=1024, keys=20000),
                  Scenario("get-16k", "get", value_size=16384, keys=2000),
                  Scenario("get-1m", "get", value_size=1 << 20, keys=32)]
    return scenarios
