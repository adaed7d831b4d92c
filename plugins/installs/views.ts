import { formatDate } from '../../core/typebox.ts'
import type { InstallRequestView } from './schemas.ts'

/** A row with the UUID of its device, as every statement here returns it. Times are milliseconds since 1970. */
export interface InstallRow extends Omit<InstallRequestView, 'device_id' | 'created_at' | 'updated_at'> {
  device_id: number
  device_uuid: string
  is_numbered: boolean
  created_at: number
  updated_at: number
}

export function toInstallView (row: InstallRow): InstallRequestView {
  const { device_uuid: uuid, is_numbered: isNumbered, created_at: created, updated_at: updated, ...same } = row
  return {
    ...same,
    percent: row.status === 'taken' ? row.percent : null,
    device_id: isNumbered ? row.device_id : uuid,
    created_at: formatDate(created),
    updated_at: formatDate(updated)
  }
}
