import { useEffect } from 'preact/hooks'
import { LocationProvider } from 'preact-iso/router'
import wifiOff from 'lucide/dist/esm/icons/wifi-off.mjs'
import { isReachable, onReturn, reportReached } from './api/connection.ts'
import { loadSession, session } from './api/session.ts'
import { texts } from './i18n/language.ts'
import { FirstStart } from './pages/first-start/first-start.tsx'
import { SignIn } from './pages/sign-in/sign-in.tsx'
import { Shell } from './shell/shell.tsx'
import { Empty } from './ui/state.tsx'
import { Toasts } from './ui/toast.tsx'

/** Loads the session; while the server does not answer, `connection.ts` tries again. */
async function start (): Promise<void> {
  try {
    await loadSession()
  } catch {
    reportReached(false)
  }
}
onReturn(() => { if (session.value.state === 'starting') void start() })

function Current () {
  const { value } = session
  if (value.state === 'signed-in') return <Shell user={value.user} />
  if (value.state === 'signed-out') return <SignIn heartbeat={value.heartbeat} hasEnded={value.hasEnded} />
  if (value.state === 'first-start') return <FirstStart />
  const { unreachable } = texts().errors
  return isReachable.value ? null : <Empty icon={wifiOff} title={unreachable.title} text={unreachable.text} />
}

/** The whole console. */
export function App () {
  useEffect(() => { void start() }, [])
  return <LocationProvider><Current /><Toasts /></LocationProvider>
}
