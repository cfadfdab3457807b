import { crossingFaults } from './soak.faults.answers.js';
import type { Fault } from './soak.fault.js';
import { permissionFaults } from './soak.faults.permissions.js';
import { providerFaults } from './soak.faults.providers.js';

/** Every fault, in the order of a round. */
export const faults: readonly Fault[] = [...providerFaults, ...permissionFaults, ...crossingFaults];
