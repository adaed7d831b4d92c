import { useLayoutEffect, useRef } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { Route, Router } from 'preact-iso/router'
import wifiOff from 'lucide/dist/esm/icons/wifi-off.mjs'
import { isReachable } from '../api/connection.ts'
import { type User, isGuest } from '../api/session.ts'
import { addressOf } from '../base.ts'
import { texts } from '../i18n/language.ts'
import { isDecodable, useView } from '../navigate.ts'
import { NotFound } from '../pages/errors/errors.tsx'
import { ROUTES } from '../routes.ts'
import { Icon } from '../ui/icon.tsx'
import { readPlace } from '../ui/grid/stored-position.ts'
import { PageBoundary } from '../ui/page-boundary.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Bell } from './bell.tsx'
import { Navigation } from './navigation.tsx'
import { SearchBox } from './search-box.tsx'

const Banner = () => isReachable.value
  ? null
  : <div class='shell-banner' role='alert'><Icon node={wifiOff} />{texts().common.unreachable}</div>

const Views = () => (
  <Router>
    {ROUTES.map((route) => <Route key={route.path} path={addressOf(route.path)} component={route.page} />)}
    <Route default component={NotFound} />
  </Router>
)

/** The frame around all pages of a signed-in person. */
export function Shell ({ user }: { user: User }) {
  const { path } = useView()
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  // Before the page is painted, because a person may press Tab at once.
  useLayoutEffect(() => {
    // The first page keeps the focus of the browser. Later ones get it, so that screen readers read them. A grid that
    // the person returns to takes it itself.
    if (!isFirst.current && readPlace() === null) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [path])
  /** Moves the focus without a navigation, which would lose the query of the address. */
  const skip = (event: Event): void => {
    event.preventDefault()
    main.current?.focus()
  }
  return (
    <div class='shell'>
      <a class='button shell-skip' href={`${addressOf(path)}#main`} target='_top' onClick={skip}>{texts().common.skip}</a>
      <Navigation />
      <div>
        <header class='shell-bar'>
          <SearchBox />
          <div class='shell-actions'>{!isGuest(user) && <Bell />}<AccountMenu user={user} /></div>
        </header>
        <Banner />
        <main class='shell-main' id='main' tabIndex={-1} ref={main}>
          <PageBoundary view={path}>
            <ErrorBoundary>
              {isDecodable(path) ? <Views /> : <NotFound />}
            </ErrorBoundary>
          </PageBoundary>
        </main>
      </div>
    </div>
  )
}
