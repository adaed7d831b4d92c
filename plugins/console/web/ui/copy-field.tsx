import copy from 'lucide/dist/esm/icons/copy.mjs'
import { useRef } from 'preact/hooks'
import { texts } from '../i18n/language.ts'
import { IconButton } from './button.tsx'
import { Field } from './field.tsx'
import { tellSuccess } from './toast.tsx'

/** Copies the text of a field. Browsers offer the clipboard only on encrypted pages; elsewhere the text is selected. */
async function copyText (input: HTMLInputElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(input.value)
    return true
  } catch {
    input.select()
    // The former command is the only one on pages without encryption, as most home servers have.
    return document.execCommand('copy')
  }
}

/** A text to take along, with a button that copies it. */
export function CopyField ({ label, hint, value }: { label: string, hint?: string, value: string }) {
  const { common } = texts()
  const input = useRef<HTMLInputElement>(null)
  async function copyValue (): Promise<void> {
    if (input.current !== null && await copyText(input.current)) tellSuccess(common.copied)
  }
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <div class='input-with'>
          <input {...control} ref={input} class='input input-code' readOnly value={value} onFocus={({ currentTarget }) => { currentTarget.select() }} />
          <IconButton isSmall icon={copy} label={common.copy} onClick={() => { void copyValue() }} />
        </div>
      )}
    </Field>
  )
}
