import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import lazy, { ErrorBoundary } from 'preact-iso/lazy'
import { LocationProvider } from 'preact-iso/router'
import wifiOff from 'lucide/dist/esm/icons/wifi-off.mjs'
import { isReachable, onReturn, reportReached } from './api/connection.ts'
import { accountOf, isGuest, loadSession, session } from './api/session.ts'
import { texts } from './i18n/language.ts'
import { useView } from './navigate.ts'
import { FirstStart } from './pages/first-start/first-start.tsx'
import { SIGN_IN_PATH, SignIn } from './pages/sign-in/sign-in.tsx'
import { takeWayBack } from './pages/sign-in/way-back.ts'
import { Shell } from './shell/shell.tsx'
import { Empty } from './ui/state.tsx'
import { Toasts } from './ui/toast.tsx'
import { ENTRANCE_PATHS, type EntrancePath } from './view-paths.ts'

/** Loads the session; while the server does not answer, `connection.ts` tries again. */
async function start (): Promise<void> {
  try {
    await loadSession()
  } catch {
    reportReached(false)
  }
}
onReturn(() => { if (session.value.state === 'starting') void start() })

/** Pages outside of the frame, which need no session. */
const ENTRANCES: Readonly<Record<EntrancePath, ComponentType>> = {
  register: lazy(() => import('./pages/sign-in/register.tsx')),
  'reset-password': lazy(() => import('./pages/sign-in/reset-password.tsx')),
  'forgot-password': lazy(() => import('./pages/sign-in/forgot-password.tsx'))
}
/** The views for which the guest of a kiosk must sign in. */
const PERSONAL = new Set([SIGN_IN_PATH, 'pair/device'])

function Current () {
  const { path, go } = useView()
  const { value } = session
  const account = accountOf()
  useEffect(() => {
    if (account === null || isGuest(account)) return
    const view = takeWayBack()
    if (view !== null && path === '') go(view, true)
  }, [account?.id])
  const entrance = ENTRANCE_PATHS.find((one) => one === path)
  const Page = entrance === undefined ? undefined : ENTRANCES[entrance]
  if (Page !== undefined && value.state !== 'starting') return <ErrorBoundary><Page /></ErrorBoundary>
  if (value.state === 'signed-in' && isGuest(value.user) && PERSONAL.has(path)) {
    return <SignIn heartbeat={value.heartbeat} hasEnded={false} />
  }
  if (value.state === 'signed-in') return <Shell user={value.user} />
  if (value.state === 'signed-out') return <SignIn heartbeat={value.heartbeat} hasEnded={value.hasEnded} />
  if (value.state === 'first-start') return <FirstStart />
  const { unreachable } = texts().errors
  return isReachable.value ? null : <Empty isPage icon={wifiOff} title={unreachable.title} text={unreachable.text} />
}

/** The whole console. */
export function App () {
  useEffect(() => { void start() }, [])
  return <LocationProvider><Current /><Toasts /></LocationProvider>
}
