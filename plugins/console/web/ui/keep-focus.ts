import { listControls } from './first-focus.ts'

/** Parts of a page that the focus does not leave by itself. */
const BOUNDS = 'dialog, .toasts, #app'
/** Parents of menus, which give the focus back themselves. */
const ABOVE = 'body, dialog'

const isElement = (node: Node): node is HTMLElement => node instanceof HTMLElement

/** The nodes before and behind a place. */
type Around = readonly [Node | null, Node | null]

/** Lists the elements around a place among the children of another one, each from the nearest on. */
function listSiblings (parent: Element, [previous, next]: Around) {
  const children: readonly Node[] = [...parent.childNodes]
  const following = next?.parentNode === parent ? children.indexOf(next) : -1
  const at = following >= 0 ? following : previous === null ? 0 : children.indexOf(previous) + 1
  return { before: children.slice(0, at).filter(isElement).toReversed(), after: children.slice(at).filter(isElement) }
}

/** Lists the visible controls of an element, which may be one itself. */
const listVisible = (element: HTMLElement): HTMLElement[] => {
  const isOne = element.parentElement !== null && listControls(element.parentElement).includes(element)
  return [...isOne ? [element] : [], ...listControls(element)].filter((control) => control.checkVisibility())
}

/**
 * Finds the control behind a place, else the one before it, in wider and wider parts of the page.
 *
 * @param order the position of the lost control among its row's controls, counted from the end; the control at the same
 * position of the neighbour gets the focus
 */
function findNeighbour (parent: HTMLElement, around: Around, order: number): HTMLElement | undefined {
  if (parent.matches('main')) return parent
  const { before, after } = listSiblings(parent, around)
  const found = after.map(listVisible).find(({ length }) => length > 0)
  if (found !== undefined) return found.at(-1 - order) ?? found[0]
  const former = before.map(listVisible).find(({ length }) => length > 0)
  if (former !== undefined) return former.at(-1 - order) ?? former.at(-1)
  const { parentElement: outer } = parent
  return outer === null || parent.matches(BOUNDS) ? undefined : findNeighbour(outer, [parent, parent.nextSibling], 0)
}

/** Finds the control that gets the focus of a removed one. */
function findHeir (records: readonly MutationRecord[], lost: Element): HTMLElement | undefined {
  for (const { target, removedNodes, previousSibling, nextSibling } of records) {
    const removed = [...removedNodes].filter(isElement).find((node) => node.contains(lost))
    if (removed === undefined || !isElement(target) || !target.isConnected || target.matches(ABOVE)) continue
    // After a sign-in, the whole page is another one.
    if (removed.matches('main')) return document.querySelector('main') ?? undefined
    const following = listControls(removed).toReversed().findIndex((control) => control === lost)
    return findNeighbour(target, [previousSibling, nextSibling], Math.max(0, following))
  }
  return undefined
}

/**
 * Moves the focus to a neighbour when the control that has it leaves the page, such as the button that deletes a row.
 * Without that, the next Tab would begin at the top of the page. The same holds for the control that a dialog gives the
 * focus back to.
 */
export function keepFocus (): void {
  let last: Element | null = null
  let dialog: HTMLDialogElement | null = null
  /** The last control outside of dialogs, or its neighbour. */
  let outside: HTMLElement | null = null

  function focusIfLost (heir: HTMLElement | null | undefined): void {
    if (document.activeElement === document.body) heir?.focus({ preventScroll: heir.matches('main') })
  }

  addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    last = target
    dialog = target.closest('dialog')
    if (dialog === null) outside = target
  })
  // The event does not bubble.
  addEventListener('close', () => { focusIfLost(outside) }, true)
  new MutationObserver((records) => {
    if (outside?.isConnected === false) outside = findHeir(records, outside) ?? null
    if (last === null || last.isConnected) return
    const lost = last
    last = null
    focusIfLost(dialog?.isConnected === true && dialog.open ? findHeir(records, lost) : outside)
  }).observe(document.body, { childList: true, subtree: true })
}
