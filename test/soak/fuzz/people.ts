import { randomUUID } from 'node:crypto'
import { hash } from '@node-rs/argon2'
import { SCOPES } from '../../../core/access/scopes.ts'
import { sha256 } from '../../../core/access/secrets.ts'
import type { SoakServer } from '../server.ts'
import { send } from './transport.ts'

/** The sender of a request. */
export interface Person {
  name: string
  isAdmin: boolean
  /** Headers with the credential; none for guests. */
  headers: Record<string, string>
  /** Secrets that no response may contain, except the one that issued them. */
  secrets: string[]
}

type Kind = 'administrator' | 'editor' | 'member' | 'browser' | 'device' | 'narrow' | 'guest'
/** The senders of ten requests. */
export const CROWD: readonly Kind[] = ['administrator', 'administrator', 'editor', 'editor', 'member', 'member', 'browser', 'device', 'narrow', 'guest']

/** A cheap password hash, because nobody guesses these passwords. */
const QUICK_HASH = { memoryCost: 8, timeCost: 1, parallelism: 1 }

async function insert (server: SoakServer, sql: string, values: unknown[]): Promise<number> {
  const rows = await server.query<{ id: number }>(`${sql} returning id`, values)
  const id = rows?.[0]?.id
  if (id === undefined) throw new Error(`Nothing was inserted by: ${sql}`)
  return id
}

export async function addUser (server: SoakServer, name: string, role: 'admin' | 'user', password: string): Promise<number> {
  return await insert(server, 'insert into users (username, email, role, password_hash) values ($1, $2, $3, $4)',
    [name, `${name}@home.invalid`, role, await hash(password, QUICK_HASH)])
}

async function addToken (
  server: SoakServer, user: number, scopes: readonly string[], device: number | null
): Promise<string> {
  const raw = `svc_${randomUUID()}${randomUUID()}`
  await insert(server, 'insert into client_tokens (user_id, name, token_hash, scopes, device_id) values ($1, $2, $3, $4, $5)',
    [user, 'of the crowd', sha256(raw), scopes, device])
  return raw
}

export const bearer = (raw: string) => ({ authorization: `Bearer ${raw}` })

const cookiesOf = (given: string[] | undefined) => (given ?? []).map((one) => one.split(';', 1)[0] ?? '')

/** Adds the cookies of a response, and the header that repeats the CSRF cookie. */
async function openBrowser (server: SoakServer, headers: Record<string, string>): Promise<Record<string, string>> {
  const method = 'authorization' in headers ? 'POST' : 'GET'
  const url = method === 'POST' ? '/api/login' : '/api/heartbeat'
  const answer = await send(server.url, { operationId: 'login', method, template: url, url, headers, body: null })
  const cookies = cookiesOf(answer.headers['set-cookie'])
  const token = cookies.find((one) => one.startsWith('svc_csrftoken='))?.split('=')[1]
  if (answer.status !== 200 || token === undefined) throw new Error(`No cookies came with ${answer.status} ${answer.text}`)
  return { cookie: cookies.join('; '), 'x-csrftoken': token }
}

/** Creates an account, or any other credential, and signs in. */
export async function admit (server: SoakServer, kind: Kind, generation: number): Promise<Person> {
  const name = `${kind}-${generation}`
  if (kind === 'guest') return { name, isAdmin: false, headers: await openBrowser(server, {}), secrets: [] }
  const isAdmin = kind === 'administrator' || kind === 'narrow'
  const password = `password of ${randomUUID()}`
  const user = await addUser(server, name, isAdmin ? 'admin' : 'user', password)
  const person = (headers: Record<string, string>, more: string[] = []): Person =>
    ({ name, isAdmin, headers, secrets: [password, ...more] })
  if (kind === 'editor') {
    await server.query('update users set permission_group_id = (select id from permission_groups where name = $2) where id = $1', [user, 'Editors'])
  }
  if (kind === 'browser') {
    const basic = { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` }
    const headers = await openBrowser(server, basic)
    return person(headers, [/svc_session=([^;]+)/.exec(headers.cookie ?? '')?.[1] ?? password])
  }
  const device = kind === 'device' ? await insert(server, "insert into devices (user_id, name) values ($1, 'a handheld')", [user]) : null
  const raw = await addToken(server, user, kind === 'narrow' ? ['roms.read', 'assets.read', 'me.read'] : SCOPES, device)
  return person(bearer(raw), [raw])
}

/** True if the credential still works. Requests of this or another person may have revoked it. */
export async function isAdmitted (server: SoakServer, { headers, isAdmin, name }: Person): Promise<boolean> {
  if (name.startsWith('guest')) return true
  const answer = await send(server.url, { operationId: 'getOwnUser', method: 'GET', template: '', url: '/api/users/me', headers, body: null })
  return answer.status === 200 && answer.text.includes('"role":"admin"') === isAdmin
}
