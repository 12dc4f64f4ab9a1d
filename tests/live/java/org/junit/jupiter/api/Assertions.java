package org.junit.jupiter.api;

/** As in JUnit. */
public final class Assertions {
    public static void assertEquals(int expected, int actual) {
        assertTrue(expected == actual, expected + " expected, got " + actual);
    }

    public static void assertTrue(boolean holds) {
        assertTrue(holds, "it does not hold");
    }

    private static void assertTrue(boolean holds, String message) {
        if (!holds) {
            throw new AssertionError(message);
        }
    }
}
