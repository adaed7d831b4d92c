import { useEffect, useState } from 'preact/hooks'
import { type Heartbeat, signIn } from '../../api/session.ts'
import { addressOf } from '../../base.ts'
import { texts } from '../../i18n/language.ts'
import { useView } from '../../navigate.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { Entrance } from './entrance.tsx'
import { takeSignInProblem } from './sign-in-problem.ts'
import { storeWayBack, takeWayBack } from './way-back.ts'

const OPENID = 'api/login/openid'
/** The address that only signs in: everybody goes on to the start page from there. */
export const SIGN_IN_PATH = 'sign-in'
/** Signing out must not sign in again at once, so automatic sign-in happens once per tab. */
const ATTEMPTED = 'svc.openid-attempted'

function PasswordForm () {
  const { signIn: words } = texts()
  const { path, go } = useView()
  const { values, set, isBusy, failure, onSubmit } = useForm({ username: '', password: '' }, async ({ username, password }) => {
    await signIn(username, password)
    if (path === SIGN_IN_PATH) go(takeWayBack() ?? '', true)
  })
  return (
    <form onSubmit={onSubmit}>
      {failure !== null && <Notice kind='failure'>{failure.message}</Notice>}
      <TextField
        label={words.username} name='username' autocomplete='username' autocapitalize='none' required autofocus
        value={values.username} onInput={(value) => { set('username', value) }}
      />
      <PasswordField
        label={words.password} name='password' autocomplete='current-password' required
        value={values.password} onInput={(value) => { set('password', value) }}
      />
      <Button type='submit' kind='primary' isWide isBusy={isBusy}>{words.submit}</Button>
    </form>
  )
}

/** Sign-in by password or OpenID provider. The address stays, so people return to the view that they opened. */
export function SignIn ({ heartbeat: { FRONTEND, OIDC }, hasEnded }: { heartbeat: Heartbeat, hasEnded: boolean }) {
  const { signIn: words } = texts()
  const { path, params } = useView()
  const hasPassword = !FRONTEND.DISABLE_USERPASS_LOGIN
  const [problem] = useState(takeSignInProblem)
  const isAutomatic = OIDC.ENABLED && OIDC.AUTOLOGIN && problem === null && sessionStorage.getItem(ATTEMPTED) === null
  // After a failure of the provider, the view that the person opened first is still stored.
  const leave = () => { if (path !== SIGN_IN_PATH) storeWayBack(`${path}${params.size === 0 ? '' : `?${params}`}`) }
  useEffect(() => {
    if (!isAutomatic) return
    leave()
    sessionStorage.setItem(ATTEMPTED, '1')
    location.assign(addressOf(OPENID))
  }, [isAutomatic])
  return (
    <Entrance title={words.title}>
      {problem !== null && <Notice kind='failure'>{problem === '' ? words.openidFailed : problem}</Notice>}
      {hasEnded && problem === null && <Notice>{words.ended}</Notice>}
      {hasPassword && <PasswordForm />}
      {hasPassword && <a class='entrance-aside' href='forgot-password'>{words.forgot}</a>}
      {hasPassword && OIDC.ENABLED && <div class='entrance-or'>{words.or}</div>}
      {OIDC.ENABLED && <LinkButton isWide href={OPENID} target='_top' onClick={leave}>{words.withProvider(OIDC.PROVIDER)}</LinkButton>}
      {!hasPassword && !OIDC.ENABLED && <Notice kind='warning'>{words.noPassword}</Notice>}
    </Entrance>
  )
}
