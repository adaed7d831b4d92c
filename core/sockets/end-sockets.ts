import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Db } from '../database/db.ts'
import { StringEnum } from '../typebox.ts'

/** The owner of sockets: a session, token, device or user. */
const SocketOwnerSchema = Type.Object({ kind: StringEnum(['session', 'token', 'device', 'user']), id: Type.Integer() })
export type SocketOwner = Static<typeof SocketOwnerSchema>

/** The PostgreSQL channel that tells web workers which sockets to close. */
export const END_CHANNEL = 'svc_sockets_end'

/**
 * Makes every web worker disconnect the sockets of an owner, once the transaction is committed. It needs only the
 * database, because the command line also uses it beside a running server.
 */
export async function announceSocketEnd (tx: Db, owner: SocketOwner): Promise<void> {
  await tx.query('select pg_notify($1, $2)', [END_CHANNEL, JSON.stringify(owner)])
}

/** Returns the owner in an announcement; null if it is invalid. */
export function readEnd (payload: string): SocketOwner | null {
  const value: unknown = JSON.parse(payload)
  return Value.Check(SocketOwnerSchema, value) ? value : null
}
