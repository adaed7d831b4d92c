import { useEffect } from 'preact/hooks'
import { LocationProvider } from 'preact-iso/router'
import wifiOff from 'lucide/dist/esm/icons/wifi-off.mjs'
import { isReachable } from './api/connection.ts'
import { loadSession, session } from './api/session.ts'
import { texts } from './i18n/language.ts'
import { FirstStart } from './pages/first-start/first-start.tsx'
import { SignIn } from './pages/sign-in/sign-in.tsx'
import { Shell } from './shell/shell.tsx'
import { Empty } from './ui/state.tsx'
import { Toasts } from './ui/toast.tsx'

const RETRY_MS = 2_000

/** Loads the session; while the server does not answer, tries again from time to time. */
async function start (): Promise<void> {
  try {
    await loadSession()
  } catch {
    isReachable.value = false
    setTimeout(() => { void start() }, RETRY_MS)
  }
}

function Current () {
  const { value } = session
  if (value.state === 'signed-in') return <Shell />
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
