import type { EntityManager } from '@mikro-orm/postgresql'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { StringEnum } from '../typebox.ts'

/** Whose sockets are meant. */
const SocketOwnerSchema = Type.Object({ kind: StringEnum(['session', 'token', 'device', 'user']), id: Type.Integer() })
export type SocketOwner = Static<typeof SocketOwnerSchema>

/** The PostgreSQL channel on which web workers hear whose sockets end. */
export const END_CHANNEL = 'svc_sockets_end'

/**
 * Has every web worker disconnect what somebody has open, once the transaction is committed. It needs no more than the
 * database: the command line does it too, beside a server that runs.
 */
export async function announceSocketEnd (tx: EntityManager, who: SocketOwner): Promise<void> {
  await tx.execute('select pg_notify(?, ?)', [END_CHANNEL, JSON.stringify(who)])
}

/** Whom an announcement is about; null for what is none. */
export function readEnd (payload: string): SocketOwner | null {
  const value: unknown = JSON.parse(payload)
  return Value.Check(SocketOwnerSchema, value) ? value : null
}
