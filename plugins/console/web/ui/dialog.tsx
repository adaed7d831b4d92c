import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import x from 'lucide/dist/esm/icons/x.mjs'
import { texts } from '../i18n/language.ts'
import { IconButton } from './button.tsx'
import { useFirstFocus } from './first-focus.ts'

interface DialogProps {
  title: string
  isOpen: boolean
  onClose: () => void
  isLarge?: boolean
  /** True for content that needs the whole window. */
  isFull?: boolean
  children: ComponentChildren
  /** Buttons, the main one last. */
  foot?: ComponentChildren
}

/** A modal dialog. Escape and a click beside it close it. The control that had the focus before gets it back. */
export function Dialog ({ title, isOpen, onClose, isLarge = false, isFull = false, children, foot }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  const isPressedBeside = useRef(false)
  const id = useId()
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  // A browser gives the focus back only if the dialog closes before it leaves the page.
  useLayoutEffect(() => () => {
    isGone.current = true
    dialog.current?.close()
  }, [])
  useFirstFocus(dialog, isOpen)
  return (
    <dialog
      ref={dialog} class={`dialog ${isFull ? 'dialog-full' : isLarge ? 'dialog-large' : ''}`} aria-labelledby={id}
      onClose={() => { if (!isGone.current) onClose() }}
      // A person who selects text may release the pointer beside the dialog, which is a click on the dialog too.
      onPointerDown={({ target, currentTarget }) => { isPressedBeside.current = target === currentTarget }}
      onClick={({ target, currentTarget }) => { if (target === currentTarget && isPressedBeside.current) onClose() }}
    >
      {isOpen && (
        <>
          <div class='dialog-head'>
            <h2 id={id}>{title}</h2>
            <IconButton icon={x} label={texts().common.close} onClick={onClose} />
          </div>
          <div class='dialog-body'>{children}</div>
          {foot !== undefined && <div class='dialog-foot'>{foot}</div>}
        </>
      )}
    </dialog>
  )
}
