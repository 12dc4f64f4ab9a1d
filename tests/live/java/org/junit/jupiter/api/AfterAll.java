package org.junit.jupiter.api;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** As in JUnit. */
@Retention(RetentionPolicy.RUNTIME)
public @interface AfterAll {
}
