import { signal } from '@preact/signals'
import { api, call } from './client.ts'
import { onSignedOut, reportReached } from './connection.ts'
import { Failure } from './failure.ts'
import { cache } from './resource.ts'
import type { components } from './schema.d.ts'
import { closeSocket, onSocketEnd, openSocket } from './socket.ts'

export type User = components['schemas']['User']
export type Heartbeat = components['schemas']['Heartbeat']

/** The state of the sign-in. A kiosk shows its pages to guests, who have the id -1. */
export type Session =
  | { readonly state: 'starting' }
  | { readonly state: 'first-start', readonly heartbeat: Heartbeat }
  | { readonly state: 'signed-out', readonly heartbeat: Heartbeat, readonly hasEnded: boolean }
  | { readonly state: 'signed-in', readonly heartbeat: Heartbeat, readonly user: User }

export const session = signal<Session>({ state: 'starting' })

/** Returns the account of the session; null before a sign-in. */
export const accountOf = (): User | null => session.value.state === 'signed-in' ? session.value.user : null
export const isAdministrator = (): boolean => accountOf()?.role === 'admin'
/** True if the account may do what a scope names, such as `roms.write`. */
export const holds = (scope: User['oauth_scopes'][number]): boolean => accountOf()?.oauth_scopes.includes(scope) ?? false

const GUEST_ID = -1
export const isGuest = (user: User): boolean => user.id === GUEST_ID

async function readUser (): Promise<User | null> {
  try {
    return await call(api.GET('/api/users/me'))
  } catch (err) {
    if (err instanceof Failure && err.status === 401) return null
    throw err
  }
}

/** Loads the state of the session: at the start, after a sign-in, and when the server closed the socket. */
export async function loadSession (hasEnded = false): Promise<void> {
  const former = accountOf()
  const [heartbeat, user] = await Promise.all([call(api.GET('/api/heartbeat')), readUser()])
  if (former?.id !== user?.id) cache.clear()
  if (user !== null) {
    session.value = { state: 'signed-in', heartbeat, user }
    openSocket()
    return
  }
  closeSocket()
  session.value = heartbeat.SYSTEM.SHOW_SETUP_WIZARD
    ? { state: 'first-start', heartbeat }
    : { state: 'signed-out', heartbeat, hasEnded }
}

let checking: Promise<void> | null = null

/** Checks if the session still exists. Calls during a check share it. */
function check (): void {
  checking ??= loadSession(true).catch(() => { reportReached(false) }).finally(() => { checking = null })
}
onSignedOut(() => { if (session.value.state === 'signed-in') check() })
onSocketEnd(check)

/** Opens a session with a password. @throws Failure with the reason of a refusal */
export async function signIn (username: string, password: string): Promise<void> {
  await call(api.POST('/api/auth/login', {
    body: { username, password }, bodySerializer: (fields) => new URLSearchParams(fields),
    headers: { 'content-type': 'application/x-www-form-urlencoded' }
  }))
  await loadSession()
}

/** Ends the session, at the OpenID provider too if that opened it. */
export async function signOut (): Promise<void> {
  const answer = await call(api.POST('/api/logout'))
  if (answer?.oidc_logout_url != null) location.assign(answer.oidc_logout_url)
  else await loadSession()
}

/** Shows a changed account at once. */
export function updateAccount (user: User): void {
  if (session.value.state === 'signed-in') session.value = { ...session.value, user }
}

type PasswordChange = Pick<components['schemas']['UpdateUser'], 'current_password' | 'keep_tokens'> & { password: string }

/** Changes the own password. That ends every session, so a new one begins here. @throws Failure with the refusal */
export async function changePassword ({ id, username }: User, body: PasswordChange): Promise<void> {
  // Otherwise the end of the former session would lead to the sign-in page.
  closeSocket()
  try {
    await call(api.PUT('/api/users/{id}', { params: { path: { id } }, body }))
  } catch (err) {
    openSocket()
    throw err
  }
  await signIn(username, body.password)
}
