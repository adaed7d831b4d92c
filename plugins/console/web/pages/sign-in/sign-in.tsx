import { useEffect } from 'preact/hooks'
import { type Heartbeat, signIn } from '../../api/session.ts'
import { addressOf } from '../../base.ts'
import { texts } from '../../i18n/language.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { Entrance } from './entrance.tsx'

const OPENID = 'api/login/openid'
/** Signing out must not sign in again at once, so automatic sign-in happens once per tab. */
const ATTEMPTED = 'svc.openid-attempted'

function PasswordForm () {
  const { signIn: words } = texts()
  const { values, set, isBusy, failure, onSubmit } = useForm({ username: '', password: '' },
    async ({ username, password }) => signIn(username, password))
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
  const hasPassword = !FRONTEND.DISABLE_USERPASS_LOGIN
  const isAutomatic = OIDC.ENABLED && OIDC.AUTOLOGIN && sessionStorage.getItem(ATTEMPTED) === null
  useEffect(() => {
    if (!isAutomatic) return
    sessionStorage.setItem(ATTEMPTED, '1')
    location.assign(addressOf(OPENID))
  }, [isAutomatic])
  return (
    <Entrance title={words.title}>
      {hasEnded && <Notice>{words.ended}</Notice>}
      {hasPassword && <PasswordForm />}
      {hasPassword && OIDC.ENABLED && <div class='entrance-or'>{words.or}</div>}
      {OIDC.ENABLED && <LinkButton isWide href={OPENID} target='_top'>{words.withProvider(OIDC.PROVIDER)}</LinkButton>}
      {!hasPassword && !OIDC.ENABLED && <Notice kind='warning'>{words.noPassword}</Notice>}
    </Entrance>
  )
}
