import type { ComponentChildren } from 'preact'
import { createPortal } from 'preact/compat'

/** Returns the element above everything else: the last open dialog, because all others cannot be used meanwhile. */
const findTop = (): Element => [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body

/** Renders content above the page, where nothing clips it. The one of `@zag-js/preact` needs React. */
export const Portal = ({ children }: { children: ComponentChildren }) => createPortal(<>{children}</>, findTop())
