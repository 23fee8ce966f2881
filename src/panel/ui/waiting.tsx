/** Holds the place of what is loading. */
export const Waiting = ({ lines = 4 }: { lines?: number }) => (
  <div class="waiting" role="status">
    <span class="unseen">Loading…</span>
    {Array.from({ length: lines }, (_, index) => (
      <span key={index} aria-hidden="true" />
    ))}
  </div>
);
