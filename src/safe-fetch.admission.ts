import type { DispatchGate } from './dispatch-gate.js';
import { OutboundError } from './outbound-error.js';
import { isLostSocket, maximumAttempts } from './safe-fetch.lost-socket.js';
import { untilAborted } from './safe-fetch.until-aborted.js';
import type { WriteWatch } from './safe-fetch.write-watch.js';

/** Carries what `admit` rejected with past the translation of network errors. */
export class AdmissionRefused extends Error {
  override readonly name = 'AdmissionRefused';

  constructor(readonly refusal: Error) {
    super(refusal.message);
  }
}

/**
 * Sends a guarded request: a socket first, so that nothing slow stands between permission and write, then the
 * admission, then the write. An admission whose deadline passed, or whose socket was lost, before the first byte is asked
 * for again.
 *
 * `openSocket` is bounded by the same signal.
 *
 * @throws AdmissionRefused with what `admit` rejects with; OutboundError `admission_expired` after three expired admissions
 */
export async function sendAdmitted<S, T>(
  gate: DispatchGate,
  signal: AbortSignal | undefined,
  steps: { openSocket: () => Promise<S>; send: (socket: S, watch: WriteWatch) => Promise<T> },
): Promise<T> {
  for (let attempt = 1; attempt <= maximumAttempts; attempt += 1) {
    const socket = await steps.openSocket();
    await admit(gate, signal);
    const admission = new Admission(gate);
    try {
      return await steps.send(socket, admission);
    } catch (error) {
      const mayAskAgain = admission.expired || (!admission.begun && attempt < maximumAttempts && isLostSocket(error));
      if (!mayAskAgain) throw error;
    } finally {
      admission.settle();
    }
  }
  throw new OutboundError('admission_expired', 'the admission expired each time before the request could be written');
}

/** Waits for the admission; one that is granted after the caller went away is handed back. */
async function admit(gate: DispatchGate, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const granted = gate.admit().catch((error: unknown) => {
    throw new AdmissionRefused(error as Error);
  });
  try {
    await untilAborted(granted, signal);
  } catch (error) {
    if (signal?.aborted === true) void handBack(granted, gate);
    throw error;
  }
}

async function handBack(granted: Promise<void>, gate: DispatchGate): Promise<void> {
  try {
    await granted;
  } catch {
    return;
  }
  gate.abandoned();
}

/** One granted admission; tells the gate exactly once how it was used. */
class Admission implements WriteWatch {
  expired = false;
  begun = false;
  private settled = false;

  constructor(private readonly gate: DispatchGate) {}

  beforeFirstByte(): void {
    if (this.gate.mayWrite()) {
      this.begun = true;
      return;
    }
    this.expired = true;
    throw new OutboundError('admission_expired', 'the admission expired before the request could be written');
  }

  afterLastByte(): void {
    this.settle();
  }

  settle(): void {
    if (this.settled) return;
    this.settled = true;
    // Begun counts as written even when the socket broke in between: bytes may have left.
    if (this.begun) this.gate.written();
    else this.gate.abandoned();
  }
}
