import type { JSONRPCMessage, ProtocolError } from '@modelcontextprotocol/client';

/** JSON-RPC error code of the errors this client puts in place of an answer that cannot come. */
export const LOCAL_ERROR_CODE = -32_099;
export type LocalErrorData = { warren: 'interrupted' | 'too_large' | 'malformed' };

/** What the protocol client is given in place of an answer that cannot come, or cannot be read. */
export function localAnswer(id: string | number, why: LocalErrorData['warren']): JSONRPCMessage {
  const data: LocalErrorData = { warren: why };
  return { jsonrpc: '2.0', id, error: { code: LOCAL_ERROR_CODE, message: why, data } };
}

/** What stands in place of an answer; undefined for the provider's own error. */
export function localErrorData(error: ProtocolError): LocalErrorData | undefined {
  return error.code === LOCAL_ERROR_CODE &&
    typeof error.data === 'object' &&
    error.data !== null &&
    'warren' in error.data
    ? (error.data as LocalErrorData)
    : undefined;
}
