import type { Static } from '@sinclair/typebox'
import { formatDate } from '../../../core/typebox.ts'
import type { DeviceAuthorization } from '../entities.ts'
import type { DeviceAuthPendingSchema } from './schemas.ts'

type DeviceAuthPending = Static<typeof DeviceAuthPendingSchema>

/** Returns the scopes that a device requests, and those of them that a caller with these scopes may approve. */
export function toPendingView (row: DeviceAuthorization, callerScopes: ReadonlySet<string>): DeviceAuthPending {
  const { requested_scopes: requested, ...installation } = row.request
  const sorted = requested.toSorted()
  return {
    ...installation,
    requested_scopes: sorted,
    allowed_scopes: sorted.filter((scope) => callerScopes.has(scope)),
    expires_at: formatDate(row.expires_at)
  }
}
