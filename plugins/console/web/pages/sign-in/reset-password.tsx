import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { Failure } from '../../api/failure.ts'
import { texts } from '../../i18n/language.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { PasswordField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { Entrance } from './entrance.tsx'
import { useLinkToken } from './link-token.ts'
import { NewPasswordField } from './new-password-field.tsx'

/** The form behind a link of `forgot-password.tsx`. */
export default function ResetPassword () {
  const { signIn: words } = texts()
  const { title, text, submit, done, incomplete, askAgain } = words.reset
  const token = useLinkToken()
  const [isDone, setDone] = useState(false)
  const { values, set, isBusy, failure, errorOf, onSubmit } = useForm({ password: '', again: '' }, async ({ password, again }) => {
    if (password !== again) throw new Failure(0, words.first.differ)
    await call(api.POST('/api/reset-password', { body: { token, new_password: password } }))
    setDone(true)
  })
  if (isDone || token === '') {
    return (
      <Entrance title={title}>
        <Notice kind={isDone ? 'info' : 'warning'}>{isDone ? done : incomplete}</Notice>
        <LinkButton isWide kind={isDone ? 'primary' : undefined} href='sign-in'>{words.toSignIn}</LinkButton>
        {!isDone && <LinkButton isWide href='forgot-password'>{askAgain}</LinkButton>}
      </Entrance>
    )
  }
  return (
    <Entrance title={title} text={text}>
      <form onSubmit={onSubmit}>
        {failure !== null && <Notice kind='failure'>{failure.message}</Notice>}
        <NewPasswordField
          label={words.reset.password} name='new-password' autofocus error={errorOf('password')}
          value={values.password} onInput={(value) => { set('password', value) }}
        />
        <PasswordField
          label={words.first.again} name='again' autocomplete='new-password' required
          value={values.again} onInput={(value) => { set('again', value) }}
        />
        <Button type='submit' kind='primary' isWide isBusy={isBusy}>{submit}</Button>
      </form>
      {failure?.status === 400 && <LinkButton isWide href='forgot-password'>{askAgain}</LinkButton>}
    </Entrance>
  )
}
