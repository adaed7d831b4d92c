import type { ComponentChildren } from 'preact'
import { texts } from '../../../i18n/language.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'

interface QuestionProps {
  title: string
  /** The text of the button that does it. */
  submit: string
  isDanger?: boolean
  onConfirm: () => void
  onClose: () => void
  children: ComponentChildren
}

/** Asks once before something that cannot be undone easily. The focus begins at the way out. */
export const Question = ({ title, submit, isDanger = false, onConfirm, onClose, children }: QuestionProps) => (
  <Dialog
    title={title} isOpen onClose={onClose}
    foot={(
      <>
        <Button autofocus onClick={onClose}>{texts().common.cancel}</Button>
        <Button kind={isDanger ? 'danger' : 'primary'} onClick={onConfirm}>{submit}</Button>
      </>
    )}
  >
    <div class='stack'>{children}</div>
  </Dialog>
)
