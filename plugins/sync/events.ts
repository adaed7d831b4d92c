import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { type EventDescriptions, type ServerEvents, userRoom } from '../../core/sockets/sockets.ts'
import { Nullable } from '../../core/typebox.ts'
import { DeviceIdSchema, deviceIdOf } from '../devices/schemas.ts'
import type { SessionName } from './session-name.ts'

/** Both ids of a session. */
const SessionEvent = { device_id: DeviceIdSchema, session_id: Type.String({ format: 'uuid' }), id: Type.Integer() }
type SessionEvent = Static<ReturnType<typeof Type.Object<typeof SessionEvent>>>

const StartedSchema = Type.Object({ ...SessionEvent, sync_mode: Type.String() }, { title: 'SyncStarted' })
const ProgressSchema = Type.Object({
  ...SessionEvent,
  operations_completed: Type.Integer(),
  operations_planned: Type.Integer(),
  current_file: Nullable(Type.String())
}, { title: 'SyncProgress' })
const CompletedSchema = Type.Object({
  ...SessionEvent, operations_completed: Type.Integer(), operations_failed: Type.Integer()
}, { title: 'SyncCompleted' })
const ConflictSchema = Type.Object({
  ...SessionEvent, file_name: Type.String(), rom_id: Type.Integer(), rom_name: Type.String(), reason: Type.String()
}, { title: 'SyncConflict' })
const FailureSchema = Type.Object({ ...SessionEvent, error: Type.String() }, { title: 'SyncError' })

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    'sync:started': Static<typeof StartedSchema>
    'sync:progress': Static<typeof ProgressSchema>
    'sync:completed': Static<typeof CompletedSchema>
    'sync:conflict': Static<typeof ConflictSchema>
    'sync:error': Static<typeof FailureSchema>
  }
}

export const syncEvents: EventDescriptions<ServerEvents> = {
  'sync:started': { summary: 'A device starts a sync', schema: StartedSchema },
  'sync:progress': { summary: 'A file was transferred', schema: ProgressSchema },
  'sync:completed': { summary: 'A sync completed', schema: CompletedSchema },
  'sync:conflict': { summary: 'Both sides changed a file', schema: ConflictSchema },
  'sync:error': { summary: 'A sync had an error', schema: FailureSchema }
}

type SyncEvent = 'started' | 'progress' | 'completed' | 'conflict' | 'error'

/** Publishes the progress of syncs to the open tabs of the devices' user. */
export function createSyncEvents (app: FastifyInstance) {
  return function publish<Name extends SyncEvent> (
    session: SessionName, name: Name, payload: Omit<ServerEvents[`sync:${Name}`], keyof SessionEvent>
  ): void {
    const ids: SessionEvent = { device_id: deviceIdOf(session.device), session_id: session.session_id, id: session.id }
    app.sockets.publish(userRoom(session.user_id), `sync:${name}`, { ...payload, ...ids } as ServerEvents[`sync:${Name}`])
  }
}
export type PublishSync = ReturnType<typeof createSyncEvents>
