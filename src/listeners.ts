import type { Listener } from './address-policy.js';

/** Warren's own listening sockets, once there are any: providers must never be reached there. */
export class Listeners {
  current: Listener[] = [];
}
