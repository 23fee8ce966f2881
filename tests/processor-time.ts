/** Measures the processor time of this process since the call, in milliseconds, unaffected by other processes. */
export function processorTime(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}
