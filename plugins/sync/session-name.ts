import type { Device } from '../devices/entities.ts'

/** The ids of a session that its events contain. */
export interface SessionName {
  id: number
  session_id: string
  user_id: number
  device: Pick<Device, 'id' | 'device_id' | 'is_numbered'>
}
