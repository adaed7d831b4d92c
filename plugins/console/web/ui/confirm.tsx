import { useState } from 'preact/hooks'
import { texts } from '../i18n/language.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { tellFailure } from './toast.tsx'

interface ConfirmProps {
  /** Names the thing that is about to change for good. */
  title: string
  text: string
  /** The label of the button that does it. */
  action: string
  isOpen: boolean
  onClose: () => void
  onConfirm: () => Promise<void>
}

/** Asks once before something that cannot be undone. */
export function Confirm ({ title, text, action, isOpen, onClose, onConfirm }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false)
  async function confirm (): Promise<void> {
    setBusy(true)
    try {
      await onConfirm()
      onClose()
    } catch (err) {
      tellFailure(err)
    }
    setBusy(false)
  }
  return (
    <Dialog
      title={title} isOpen={isOpen} onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{texts().common.cancel}</Button>
          <Button kind='danger' isBusy={isBusy} onClick={() => { void confirm() }}>{action}</Button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  )
}
