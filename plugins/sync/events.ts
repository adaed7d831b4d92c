import type { FastifyInstance } from 'fastify'
import { type ServerEvents, userRoom } from '../../core/sockets/sockets.ts'
import { type DeviceId, deviceIdOf } from '../devices/schemas.ts'
import type { SessionName } from './session-name.ts'

/** Both ids of a session. */
interface OfSession { device_id: DeviceId, session_id: string, id: number }

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    'sync:started': OfSession & { sync_mode: string }
    'sync:progress': OfSession & { operations_completed: number, operations_planned: number, current_file: string | null }
    'sync:completed': OfSession & { operations_completed: number, operations_failed: number }
    'sync:conflict': OfSession & { file_name: string, rom_id: number, rom_name: string, reason: string }
    'sync:error': OfSession & { error: string }
  }
}

type SyncEvent = 'started' | 'progress' | 'completed' | 'conflict' | 'error'

/** Tells a user's open tabs how the syncs of their devices go. */
export function createSyncEvents (app: FastifyInstance) {
  return function publish<Name extends SyncEvent> (
    session: SessionName, name: Name, payload: Omit<ServerEvents[`sync:${Name}`], keyof OfSession>
  ): void {
    const ids: OfSession = { device_id: deviceIdOf(session.device), session_id: session.session_id, id: session.id }
    app.sockets.publish(userRoom(session.user_id), `sync:${name}`, { ...payload, ...ids } as ServerEvents[`sync:${Name}`])
  }
}
export type PublishSync = ReturnType<typeof createSyncEvents>
