import type { App } from '../../../core/typebox.ts'

export type Cookies = Record<string, string>

/** Reads the cookies that a browser stores from a response. */
export function readCookies (reply: { cookies: { name: string, value: string }[] }): Cookies {
  return Object.fromEntries(reply.cookies.map(({ name, value }) => [name, value]))
}

/** Returns the headers of our pages: the cookies, and the CSRF token again as a header. */
export const browserHeaders = (cookies: Cookies) => ({
  cookie: Object.entries(cookies).map(([name, value]) => `${name}=${value}`).join('; '),
  'x-csrftoken': cookies.svc_csrftoken ?? ''
})

export const basicHeaders = (username: string, password = 'a password') =>
  ({ authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` })

interface Given { address?: string, userAgent?: string, password?: string }

/** Signs in as a browser and returns the headers of its later requests. */
export async function signIn (app: App, username: string, given: Given = {}) {
  const { address = '127.0.0.1', userAgent = 'test', password } = given
  const reply = await app.inject({
    method: 'POST',
    url: '/api/login',
    remoteAddress: address,
    headers: { ...basicHeaders(username, password), 'user-agent': userAgent }
  })
  if (reply.statusCode !== 200) throw new Error(`sign-in failed: ${reply.statusCode} ${reply.body}`)
  return browserHeaders(readCookies(reply))
}

/** Returns the headers of a browser that is not signed in. */
export const guestHeaders = async (app: App) => browserHeaders(readCookies(await app.inject({ url: '/api/heartbeat' })))

/** Finds the reset link in a mail of the server at `base`. */
export function resetLinkIn (mail: string, base: string): string | undefined {
  const text = mail.replace(/=\r?\n/g, '').replaceAll('=3D', '=')
  return text.split(/\s+/).find((word) => word.startsWith(`${base}/reset-password?token=`))
}
