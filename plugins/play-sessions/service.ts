import type { FastifyInstance } from 'fastify'
import { type Caller, requireGrant, requireScope } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { badRequest, forbidden, invalid, notFound } from '../../core/errors.ts'
import { requireTime } from '../../core/database/times.ts'
import type { BodyPath } from './entries.ts'
import { PlaySession } from './entities.ts'
import { createIngest } from './ingest.ts'
import { selectSessions, selectTotals } from './rows.ts'
import type { IngestPlaySessions, ListPlaySessionsQuery, PlaySessionEntry, PlaySessionIngestResponse, PlaySessionView, PlayTotalsQuery, PlayTotalsView } from './schemas.ts'
import { toPlaySessionView, toPlayTotalsView } from './views.ts'

const ENTRIES_MAX = 100
const LIMIT_DEFAULT = 50
/** Default limit of a query with a time filter, because its caller wants the whole span. */
const LIMIT_WITHIN_TIME = 10_000

/**
 * Returns the user whose sessions are read.
 *
 * @throws ApiError FORBIDDEN for another user without the right to read accounts
 */
function userOf (caller: Caller, userId: number | undefined): number {
  if (userId === undefined || userId === caller.id) return caller.id
  requireScope(caller, 'users.read')
  requireGrant(caller, 'users', 'read')
  return userId
}

const readBound = (name: 'start_after' | 'end_before', text: string | undefined): string | undefined =>
  text === undefined ? undefined : requireTime(text, ['query', name]).toISOString()

/** Returns the entries of a request, and the path of each one. */
function readForm (body: IngestPlaySessions): { entries: PlaySessionEntry[], pathOf: (index: number) => BodyPath } {
  const { device_id: _device, sessions, play_sessions: playSessions, ...entry } = body
  const isEntry = entry.start !== undefined || entry.start_time !== undefined
  if ([sessions !== undefined, playSessions !== undefined, isEntry].filter(Boolean).length !== 1) {
    throw invalid(['body'], "Give 'sessions', or 'play_sessions', or one entry with its start")
  }
  if (isEntry) return { entries: [entry], pathOf: () => ['body'] }
  const name = sessions === undefined ? 'play_sessions' : 'sessions'
  return { entries: body[name] ?? [], pathOf: (index) => ['body', name, index] }
}

/** Returns the only device whose sessions a caller may list; null for no limit. */
function findOnlyDevice ({ credential, device_id: id, scopes }: Caller): number | null {
  return credential === 'token' && !scopes.has('devices.read') ? id : null
}

type Devices = FastifyInstance['devices']

/** Returns the integer id of a user's device by either id; null if the user has no such device. */
async function findDevice (
  devices: Devices, db: Db, userId: number, reference: number | string
): Promise<number | null> {
  return (await devices.lookUp(db, userId, reference))?.id ?? null
}

/**
 * Returns the device that limits a list: the named one, or the token's own unless the token may read devices.
 * `undefined` means all devices, null an unknown one.
 */
async function chooseDevice (
  devices: Devices, { db, caller }: Context, userId: number, named: number | string | undefined
): Promise<number | null | undefined> {
  const onlyDevice = findOnlyDevice(caller)
  const device = named === undefined ? undefined : await findDevice(devices, db, userId, named)
  if (onlyDevice === null) return device
  if (named !== undefined && device !== onlyDevice) {
    throw forbidden('This token may read only the play sessions of its own device; use a token with the scope devices.read for others')
  }
  return onlyDevice
}

export function createPlaySessions (app: FastifyInstance) {
  const ingest = createIngest(app)

  return {
    ingest,

    /**
     * Stores the play sessions of a request, in any of its forms. A device that is not the user's is stored as null.
     */
    async post ({ db, caller }: Context, body: IngestPlaySessions): Promise<PlaySessionIngestResponse> {
      const { entries, pathOf } = readForm(body)
      if (entries.length === 0 || entries.length > ENTRIES_MAX) {
        throw badRequest(`There are ${entries.length} play sessions in the request; send 1 to ${ENTRIES_MAX}`)
      }
      const { device_id: named } = body
      const deviceId = named === undefined || named === null
        ? caller.device_id
        : await findDevice(app.devices, db, caller.id, named)
      return await ingest(db, { user_id: caller.id, device_id: deviceId, sync_session_id: null, entries }, pathOf)
    },

    async list (context: Context, query: ListPlaySessionsQuery): Promise<PlaySessionView[]> {
      const { caller } = context
      const userId = userOf(caller, query.user_id)
      const [after, before] = [readBound('start_after', query.start_after), readBound('end_before', query.end_before)]
      const device = await chooseDevice(app.devices, context, userId, query.device_id)
      if (device === null) return []
      const limit = query.limit ?? (after === undefined && before === undefined ? LIMIT_DEFAULT : LIMIT_WITHIN_TIME)
      const rows = await selectSessions(context, {
        user_id: userId, rom_id: query.rom_id, device_id: device, start_after: after, end_before: before
      }, { limit, offset: query.offset })
      return rows.map(toPlaySessionView)
    },

    /** Returns the playing time of a user for each ROM. */
    async totals (context: Context, query: PlayTotalsQuery): Promise<PlayTotalsView[]> {
      const { caller } = context
      const device = findOnlyDevice(caller) ?? undefined
      const selection = { user_id: userOf(caller, query.user_id), rom_id: query.rom_id, device_id: device }
      return (await selectTotals(context, selection, query)).map(toPlayTotalsView)
    },

    /** Deletes a play session. @throws ApiError NOT_FOUND if it does not exist or belongs to another user */
    async delete (db: Db, userId: number, id: number): Promise<void> {
      if (await db.em.nativeDelete(PlaySession, { id, user: userId }) === 0) {
        throw notFound(`Play session with ID '${id}' not found`)
      }
    }
  }
}
