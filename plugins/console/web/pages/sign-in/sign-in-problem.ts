import { BASE_PATH } from '../../base.ts'

const COOKIE = 'svc_sign_in_problem'

/** Returns the reason why the OpenID provider signed nobody in, which the server left in a cookie; null without one. */
export function takeSignInProblem (): string | null {
  const found = new RegExp(`(?:^|; )${COOKIE}=([^;]*)`).exec(document.cookie)?.[1]
  if (found === undefined) return null
  document.cookie = `${COOKIE}=; path=${BASE_PATH}; max-age=0`
  return decodeURIComponent(found)
}
