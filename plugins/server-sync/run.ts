import type { Caller } from '../../core/access/auth.ts'
import type { Device } from '../devices/entities.ts'
import type { SessionName } from '../sync/session-name.ts'
import type { Scope } from '../sync/rows.ts'
import type { Transport } from './transport.ts'

/** The parts of one sync run. */
export interface Run {
  session: SessionName
  device: Device
  /** The device's owner. */
  caller: Caller
  transport: Transport
  signal: AbortSignal
}

/** Returns the scope of a negotiation about the saves of these ROMs. */
export const scopeOf = ({ caller, device }: Run, romIds: readonly number[]): Scope => ({
  user_id: caller.id, device_id: device.id, caller, kinds: ['save'], rom_ids: romIds, includes_known: false
})
