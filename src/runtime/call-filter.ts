/** Which receipts are asked for. */
export interface CallFilter {
  agentId?: string | undefined;
  connectionId?: string | undefined;
  tool?: string | undefined;
  ok?: boolean | undefined;
  code?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}
