import { networkOf } from '../../../core/config/networks.ts'
import type { Quota } from '../../auth/throttle-rows.ts'

const MINUTE = 60

/** Quotas of an address or user for requests with which codes could be guessed. */
export const quotas = {
  exchange: (address: string): Quota =>
    ({ key: `pairing-exchange:${networkOf(address)}`, max: 5, seconds: MINUTE, restarts: true }),
  /** Twice the need of a page that polls every second. */
  pairingStatus: (address: string): Quota =>
    ({ key: `pairing-status:${networkOf(address)}`, max: 120, seconds: MINUTE }),
  deviceInit: (address: string): Quota => ({ key: `device-init:${networkOf(address)}`, max: 10, seconds: MINUTE }),
  devicePoll: (address: string): Quota => ({ key: `device-poll:${networkOf(address)}`, max: 60, seconds: MINUTE }),
  userCode: (userId: number): Quota => ({ key: `user-code:${userId}`, max: 60, seconds: MINUTE })
}
