import { useEffect, useRef, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { Failure } from '../../api/failure.ts'
import { signIn } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useView } from '../../navigate.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { Entrance } from '../sign-in/entrance.tsx'
import { NewPasswordField } from '../sign-in/new-password-field.tsx'

/** The form of the first account, an administrator. */
export function FirstStart () {
  const { signIn: { first, username, usernameRule, password } } = texts()
  const { go } = useView()
  const form = useRef<HTMLFormElement>(null)
  const [needsCode, setNeedsCode] = useState(false)
  const { values, set, isBusy, failure, errorOf, onSubmit } = useForm({ username: '', email: '', password: '', again: '', code: '' }, async (entered) => {
    if (entered.password !== entered.again) throw new Failure(0, first.differ)
    const { code, again: _again, ...account } = entered
    try {
      await call(api.POST('/api/users', { body: { ...account, role: 'admin', ...(code === '' ? {} : { setup_code: code }) } }))
    } catch (err) {
      if (!(err instanceof Failure) || err.status !== 403 || !err.message.includes('setup_code')) throw err
      // The server asks for the code only if the request comes from another machine.
      setNeedsCode(true)
      if (code !== '') throw new Failure(403, first.codeWrong)
      return
    }
    go('setup', true)
    await signIn(entered.username, entered.password)
  })
  useEffect(() => { if (needsCode) form.current?.querySelector('input')?.focus() }, [needsCode])
  return (
    <Entrance title={first.title} text={first.text}>
      <form ref={form} onSubmit={onSubmit}>
        {failure?.fields.length === 0 && <Notice kind='failure'>{failure.message}</Notice>}
        {needsCode && (
          <TextField
            label={first.code} hint={first.codeHint} autocomplete='one-time-code' autocapitalize='none' required
            value={values.code} onInput={(value) => { set('code', value) }}
          />
        )}
        <TextField
          label={username} name='username' autocomplete='username' autocapitalize='none' required autofocus
          hint={usernameRule} error={errorOf('username')} value={values.username} onInput={(value) => { set('username', value) }}
        />
        <TextField
          label={first.email} name='email' type='email' autocomplete='email' error={errorOf('email')}
          value={values.email} onInput={(value) => { set('email', value) }}
        />
        <NewPasswordField
          label={password} name='new-password' username={values.username} error={errorOf('password')}
          value={values.password} onInput={(value) => { set('password', value) }}
        />
        <PasswordField
          label={first.again} name='again' autocomplete='new-password' required value={values.again} onInput={(value) => { set('again', value) }}
        />
        <Button type='submit' kind='primary' isWide isBusy={isBusy}>{first.submit}</Button>
      </form>
    </Entrance>
  )
}
