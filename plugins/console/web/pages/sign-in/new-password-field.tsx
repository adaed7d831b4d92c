import { texts } from '../../i18n/language.ts'
import { PasswordField } from '../../ui/field.tsx'
import { PASSWORD_MIN, strengthOf } from './password-strength.ts'

interface NewPasswordProps {
  label: string
  name?: string
  username?: string
  autofocus?: boolean
  value: string
  error?: string | null
  onInput: (value: string) => void
}

/** The field of a new password, with an estimate of its strength below. */
export function NewPasswordField ({ username, value, ...rest }: NewPasswordProps) {
  const { strength, strengths } = texts().signIn
  const grade = strengthOf(value, username)
  return (
    <div class='new-password'>
      <PasswordField {...rest} value={value} autocomplete='new-password' required minLength={PASSWORD_MIN} />
      <div class='strength' data-grade={value === '' ? undefined : grade}>
        <span class='strength-bar' aria-hidden>{[1, 2, 3, 4].map((step) => <span key={step} data-on={step <= grade ? '' : undefined} />)}</span>
        <span class='faint' role='status'>{value === '' ? strength : strengths[grade]}</span>
      </div>
    </div>
  )
}
