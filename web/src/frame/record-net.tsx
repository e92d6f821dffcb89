// The net below records on paper: one that cannot be shown says so, and never takes the page with it.
import { Component, type ReactNode } from 'react';

interface Props {
  /** Shown instead of a record that fails. */
  mark: ReactNode;
  children: ReactNode;
}

/** React writes the error to the console. */
export class RecordNet extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? this.props.mark : this.props.children;
  }
}
