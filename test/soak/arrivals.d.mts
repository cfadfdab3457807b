export declare const MAX_CALLS: number;
export declare const COUNT_BITS: number;
export declare const CANCELLED_BIT: number;
