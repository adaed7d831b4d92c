import { randomUUID } from 'node:crypto'
import { SCOPES } from '../../../core/access/scopes.ts'
import { sha256 } from '../../../core/access/secrets.ts'
import { decodeKnown } from './known.ts'
import { addUser, bearer } from './people.ts'
import type { SoakServer } from '../server.ts'

/** First id of the witness's rows, which no other rows reach. */
const FIRST_NUMBER = 7_000_001
const MARK = 'kept-by-the-witness'
const PASSWORD = 'only the witness knows this'
const SEQUENCES = ['users', 'assets', 'asset_versions', 'client_tokens', 'devices', 'play_sessions', 'notifications', 'notification_channels', 'sync_sessions']
const CONTENT = `${MARK} content`

/** A user whose data nobody else may read, change or delete. */
export interface Witness {
  /** Ids of its rows, by kind. */
  ids: Map<string, (string | number)[]>
  secrets: string[]
  /** Returns data of the witness in a response to another user who is not an administrator. */
  findLeak (text: string, asked: string): string | null
  /** Lists rows that were lost or changed since the beginning. */
  listLosses (): Promise<string[]>
}

/** Rows to compare, without values that the witness's own sign-ins change. */
const KEPT = `select 'users' as place, id::text || username || coalesce(email, '') || coalesce(password_hash, '') || role || enabled::text as row from users where id = $1
  union all select 'assets', concat_ws('|', id, file_name, sha1, disk_path, is_public, deleted_at) from assets where user_id = $1
  union all select 'asset_versions', concat_ws('|', v.id, v.sha1, v.disk_path) from asset_versions v join assets a on a.id = v.asset_id where a.user_id = $1
  union all select 'client_tokens', concat_ws('|', id, token_hash, scopes) from client_tokens where user_id = $1
  union all select 'devices', concat_ws('|', id, device_id, name, sync_config, paths) from devices where user_id = $1
  union all select 'play_sessions', concat_ws('|', id, start_time, end_time) from play_sessions where user_id = $1
  union all select 'notifications', concat_ws('|', id, title, body, read_at) from notifications where user_id = $1 and kind = 'custom'
  union all select 'notification_channels', concat_ws('|', id, name, type) from notification_channels where user_id = $1
  union all select 'sync_sessions', concat_ws('|', id, session_id) from sync_sessions where user_id = $1`

async function shiftNumbers (server: SoakServer): Promise<() => Promise<void>> {
  const rows = await server.query<{ name: string, value: string }>(`select name, coalesce(pg_sequence_last_value(name::regclass), 0) as value
    from (select pg_get_serial_sequence(t, 'id') as name from unnest($1::text[]) t) s`, [SEQUENCES])
  const set = async (values: [string, number][]) => {
    for (const [name, value] of values) await server.query('select setval($1::regclass, $2, false)', [name, value])
  }
  await set((rows ?? []).map(({ name }) => [name, FIRST_NUMBER]))
  return () => set((rows ?? []).map(({ name, value }) => [name, Number(value) + 1]))
}

function createCalls (server: SoakServer, headers: Record<string, string>) {
  return async (url: string, body: object | FormData): Promise<unknown> => {
    const isForm = body instanceof FormData
    const answer = await fetch(`${server.url}${url}`, {
      method: 'POST', headers: isForm ? headers : { ...headers, 'content-type': 'application/json' }, body: isForm ? body : JSON.stringify(body)
    })
    if (!answer.ok) throw new Error(`The witness was answered ${answer.status} at ${url}: ${await answer.text()}`)
    return await answer.json()
  }
}

function formOf (part: string, fileName: string, content: string): FormData {
  const form = new FormData()
  form.set(part, new Blob([content]), fileName)
  return form
}

/** Adds at least one row of everything a user can have. */
export async function addWitness (server: SoakServer, rom: number): Promise<Witness> {
  const restoreNumbers = await shiftNumbers(server)
  const user = await addUser(server, 'witness', 'user', PASSWORD)
  const raw = `svc_${randomUUID()}`
  await server.query('insert into client_tokens (user_id, name, token_hash, scopes) values ($1, $2, $3, $4)', [user, MARK, sha256(raw), SCOPES])
  await server.query('update users set email = $2 where id = $1', [user, `${MARK}@home.invalid`])
  const headers = bearer(raw)
  const call = createCalls(server, headers)
  const ids: Witness['ids'] = new Map([['user', [user]]])
  const make = async (kind: string, url: string, body: object | FormData) => {
    const made = decodeKnown(kind, await call(url, body)).filter(([one]) => one === kind).map(([, id]) => id)
    ids.set(kind, [...ids.get(kind) ?? [], ...made])
  }
  await make('device', '/api/devices', { name: MARK, hostname: MARK, platform: 'linux' })
  const save = (content: string) => make('save', `/api/saves?rom_id=${rom}&slot=${MARK}&overwrite=true`, formOf('saveFile', `${MARK}.srm`, content))
  await save('an older content')
  await save(CONTENT)
  await make('state', `/api/states?rom_id=${rom}`, formOf('stateFile', `${MARK}.state`, CONTENT))
  await make('notification', '/api/notifications', { title: MARK, body: MARK })
  const device = ids.get('device')?.[0]
  await make('channel', '/api/notification-channels', { type: 'webhook', name: MARK, url: `https://example.com/${MARK}-secret` })
  await make('session', '/api/play-sessions', { sessions: [{ rom_id: rom, start_time: '2026-10-01T10:00:00Z', end_time: '2026-10-01T11:00:00Z', duration_ms: 3_600_000 }] })
  await make('session', '/api/sync/negotiate', { device_id: device, saves: [] })
  await restoreNumbers()

  const read = async () => (await server.query<{ place: string, row: string }>(KEPT, [user]) ?? []).map(({ place, row }) => `${place}: ${row}`)
  const before = await read()
  const places = new Set(before.map((line) => line.split(':', 1)[0]))
  if (places.size < 8) throw new Error(`The witness has rows in ${[...places].join(', ')} only`)
  return {
    ids,
    secrets: [PASSWORD, raw, `${MARK}-secret`],
    findLeak (text, asked) {
      if (text.includes(MARK) && !asked.includes(MARK)) return 'something of the witness'
      const number = /(?<![\d.-])70000\d\d(?![\d.])/.exec(text)?.[0]
      return number !== undefined && number !== String(user) && !asked.includes(number) ? `the number ${number} of the witness` : null
    },
    async listLosses () {
      const now = new Set(await read())
      const lost = before.filter((line) => !now.has(line))
      for (const kind of ['save', 'state']) {
        const id = ids.get(kind)?.at(-1)
        const answer = await fetch(`${server.url}/api/${kind}s/${id}/content`, { headers })
        if (answer.status !== 200 || await answer.text() !== CONTENT) lost.push(`the content of its ${kind}: ${answer.status}`)
      }
      return lost
    }
  }
}
