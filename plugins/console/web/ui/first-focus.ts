import { useEffect } from 'preact/hooks'

const CONTROLS = 'input:not([type=hidden]), select, textarea, button, a[href], [tabindex="0"]'

/** Finds the control that a person wants first: in the content of a dialog, else among its buttons. */
export function findFirstControl (dialog: ParentNode): HTMLElement | null {
  const inBody = [...dialog.querySelectorAll<HTMLElement>(`.dialog-body :is(${CONTROLS})`)]
  const inFoot = [...dialog.querySelectorAll<HTMLElement>(`.dialog-foot :is(${CONTROLS})`)]
  return [...inBody, ...inFoot].find((control) => !control.matches(':disabled, [tabindex="-1"]') && control.checkVisibility()) ?? null
}

/**
 * Focuses the first control of an open dialog, because browsers focus the button that closes it. Content that loads
 * gets the focus when it appears, unless the person moved on.
 */
export function useFirstFocus (dialog: { readonly current: HTMLDialogElement | null }, isOpen: boolean): void {
  useEffect(() => {
    const { current: element } = dialog
    if (!isOpen || element === null) return
    const isUntouched = () => document.activeElement === element || document.activeElement?.closest('.dialog-head') !== null
    const focusFirst = () => {
      const control = isUntouched() ? findFirstControl(element) : null
      control?.focus()
      return control !== null || !isUntouched()
    }
    if (focusFirst()) return
    const observer = new MutationObserver(() => { if (focusFirst()) observer.disconnect() })
    observer.observe(element, { childList: true, subtree: true })
    return () => { observer.disconnect() }
  }, [isOpen])
}
