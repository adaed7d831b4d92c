import type { Static } from '@sinclair/typebox'
import { formatDate } from '../../../core/typebox.ts'
import type { DeviceAuthorization } from '../entities.ts'
import type { DeviceAuthPendingSchema } from './schemas.ts'

type DeviceAuthPending = Static<typeof DeviceAuthPendingSchema>

/** What a device asks for, and what of it a caller with these scopes may allow. */
export function toPendingView (row: DeviceAuthorization, held: ReadonlySet<string>): DeviceAuthPending {
  const { requested_scopes: requested, ...installation } = row.request
  const sorted = requested.toSorted()
  return {
    ...installation,
    requested_scopes: sorted,
    allowed_scopes: sorted.filter((scope) => held.has(scope)),
    expires_at: formatDate(row.expires_at)
  }
}
