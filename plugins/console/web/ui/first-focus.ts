import { useEffect } from 'preact/hooks'

const CONTROLS = 'input:not([type=hidden]), select, textarea, button, a[href], summary, [tabindex="0"]'

/** Lists the controls of an element in the order of Tab, hidden ones included. */
export const listControls = (element: ParentNode): HTMLElement[] =>
  [...element.querySelectorAll<HTMLElement>(CONTROLS)].filter((control) => !control.matches(':disabled, [tabindex="-1"]'))

/** Finds the control that a person wants first: in the content of a dialog, else among its buttons. */
function findFirstControl (dialog: ParentNode): HTMLElement | null {
  return [...dialog.querySelectorAll('.dialog-body, .dialog-foot')].flatMap(listControls).find((control) => control.checkVisibility()) ?? null
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
