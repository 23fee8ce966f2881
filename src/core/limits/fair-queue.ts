interface QueuedJob {
  owner: string | undefined;
}

/**
 * Queued jobs, the oldest of an owner first. Owners take turns: after its turn an owner goes behind all other owners.
 */
export class FairQueue<Job extends QueuedJob> {
  /** No queue is empty. The first queue is that of the next owner. */
  readonly #queues = new Map<string | undefined, Job[]>();

  get size(): number {
    return [...this.#queues.values()].reduce((sum, jobs) => sum + jobs.length, 0);
  }

  sizeOf(owner: string | undefined): number {
    return this.#queues.get(owner)?.length ?? 0;
  }

  add(job: Job): void {
    const jobs = this.#queues.get(job.owner);
    if (jobs) jobs.push(job);
    else this.#queues.set(job.owner, [job]);
  }

  /** Removes and returns the next job of an owner that `mayRun`. Owners that may not run keep their turns. */
  take(mayRun: (owner: string | undefined) => boolean): Job | undefined {
    for (const [owner, jobs] of this.#queues) {
      if (!mayRun(owner)) continue;
      this.#queues.delete(owner);
      const job = jobs.shift();
      if (jobs.length > 0) this.#queues.set(owner, jobs);
      return job;
    }
    return undefined;
  }

  /** Removes this job; returns false if it is not queued. */
  remove(job: Job): boolean {
    const jobs = this.#queues.get(job.owner) ?? [];
    const index = jobs.indexOf(job);
    if (index < 0) return false;
    jobs.splice(index, 1);
    if (jobs.length === 0) this.#queues.delete(job.owner);
    return true;
  }
}
