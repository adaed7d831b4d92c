import type { Device } from '../devices/entities.ts'

/** A session as its events name it. */
export interface SessionName {
  id: number
  session_id: string
  user_id: number
  device: Pick<Device, 'id' | 'device_id' | 'is_numbered'>
}
