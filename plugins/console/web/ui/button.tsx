import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ComponentChildren } from 'preact'
import type { IconNode } from 'lucide'
import { Icon } from './icon.tsx'

interface Look {
  kind?: 'primary' | 'danger' | 'quiet'
  isSmall?: boolean
  isWide?: boolean
  icon?: IconNode
  children?: ComponentChildren
}

const classOf = ({ kind, isSmall, isWide }: Look, isIcon = false): string => [
  'button', kind && `button-${kind}`, isSmall && 'button-small', isWide && 'button-wide', isIcon && 'button-icon'
].filter(Boolean).join(' ')

type ButtonProps = Look & Omit<ButtonHTMLAttributes, keyof Look> & { isBusy?: boolean }

/** A button; while it is busy it shows that and cannot be pressed again. */
export function Button ({ kind, isSmall, isWide, icon, isBusy = false, children, type = 'button', disabled, ...rest }: ButtonProps) {
  return (
    <button
      {...rest} type={type} disabled={isBusy || disabled} aria-busy={isBusy}
      class={classOf({ kind, isSmall, isWide })}
    >
      {isBusy ? <span class='spinner' /> : icon && <Icon node={icon} />}
      {children}
    </button>
  )
}

type IconButtonProps = Omit<ButtonProps, 'children' | 'icon'> & { icon: IconNode, label: string }

/** A button with only an icon, whose label is its name and its tooltip. */
export function IconButton (props: IconButtonProps) {
  const { kind = 'quiet', isSmall, icon, label, isBusy = false, type = 'button', disabled, ...rest } = props
  return (
    <button
      {...rest} type={type} disabled={isBusy || disabled} aria-label={label} title={label}
      class={classOf({ kind, isSmall }, true)}
    >
      {isBusy ? <span class='spinner' /> : <Icon node={icon} />}
    </button>
  )
}

type LinkButtonProps = Look & Omit<AnchorHTMLAttributes, keyof Look | 'role'> & { href: string }

/** A link that looks like a button. Its address is relative to the start page. */
export function LinkButton ({ kind, isSmall, isWide, icon, children, ...rest }: LinkButtonProps) {
  return <a {...rest} class={classOf({ kind, isSmall, isWide })}>{icon && <Icon node={icon} />}{children}</a>
}
