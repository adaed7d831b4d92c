import ghost from 'lucide/dist/esm/icons/ghost.mjs'
import lock from 'lucide/dist/esm/icons/lock.mjs'
import { accountOf, isGuest } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Empty } from '../../ui/state.tsx'

/** The page of an address that shows nothing. */
export function NotFound () {
  const { notFound } = texts().errors
  useTitle(notFound.title)
  return <Empty isPage icon={ghost} title={notFound.title} text={notFound.text}><LinkButton href='./'>{notFound.action}</LinkButton></Empty>
}

/** The page in place of one that the account may not see. */
export function Forbidden () {
  const { common, errors: { forbidden } } = texts()
  useTitle(forbidden.title)
  const account = accountOf()
  if (account !== null && isGuest(account)) {
    return <Empty isPage icon={lock} title={forbidden.title} text={forbidden.guest}><LinkButton href='sign-in'>{common.signIn}</LinkButton></Empty>
  }
  return <Empty isPage icon={lock} title={forbidden.title} text={forbidden.text}><LinkButton href='./'>{forbidden.action}</LinkButton></Empty>
}
